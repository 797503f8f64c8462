"""What is known about each set of recorded values in `sample_data/`."""

from dataclasses import dataclass

CC_BY = "CC BY 4.0"


@dataclass(frozen=True)
class Entry:
    """One shipped table. `n_train` is the benchmark's training size, None for two thirds."""

    about: str
    source: str
    class_names: tuple[str, str]
    feature_names: tuple[str, ...]
    n_train: int | None = None
    licence: str = CC_BY


def _numbered(stem: str, count: int) -> tuple[str, ...]:
    return tuple(f"{stem}_{j + 1}" for j in range(count))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SHIPPED = {
    "banana": Entry(
        "Two banana-shaped classes in the plane (IDA benchmark); values standardised.",
        "synthetic set of G. Rätsch, from the river package",
        ("class -1", "class +1"),
        ("x1", "x2"),
        400,
        "BSD-3-Clause",
    ),
    "sonar": Entry(
        "Sonar returns from rocks and metal cylinders, energy in 60 bands; raw values.",
        "UCI, Connectionist Bench (Sonar, Mines vs. Rocks)",
        ("mine", "rock"),
        _numbered("band", 60),
    ),
    "haberman": Entry(
        "Survival of patients after breast cancer surgery; raw values.",
        "UCI, Haberman's Survival",
        ("survived 5 years", "died within 5 years"),
        _words("age operation_year positive_nodes"),
    ),
    "heart": Entry(
        "Heart disease (Statlog, IDA benchmark); values scaled to [-1, 1].",
        "UCI, Statlog (Heart)",
        ("absent", "present"),
        _words(
            "age sex chest_pain blood_pressure cholesterol fasting_sugar ecg max_heart_rate "
            "exercise_angina oldpeak slope vessels thal"
        ),
        170,
    ),
    "thyroid": Entry(
        "Normal against hyper- or hypofunction of the thyroid (IDA benchmark); raw values.",
        "UCI, Thyroid Disease (new-thyroid)",
        ("normal", "hyper or hypo"),
        _words("t3_uptake thyroxin triiodothyronine tsh tsh_increase"),
        140,
    ),
    "image": Entry(
        "Image segments of seven textures in two groups (IDA benchmark); raw values.",
        "UCI, Image Segmentation",
        ("three textures", "four textures"),
        _words(
            "centroid_col centroid_row line_density_5 line_density_2 vedge_mean vedge_sd "
            "hedge_mean hedge_sd intensity red blue green excess_red excess_blue excess_green "
            "value saturation hue"
        ),
        1300,
    ),
    "german": Entry(
        "Credit risk (Statlog, IDA benchmark); raw values, categories as their UCI codes.",
        "UCI, Statlog (German Credit Data)",
        ("good", "bad"),
        _words(
            "account months history purpose amount savings employed rate status guarantor "
            "residence property age plans housing credits job dependants phone foreign"
        ),
        700,
    ),
    "diabetis": Entry(
        "Diabetes among Pima women (IDA benchmark); raw values, zeros where not measured.",
        "UCI, Pima Indians Diabetes",
        ("negative", "positive"),
        _words("pregnancies glucose blood_pressure skin insulin bmi pedigree age"),
        468,
    ),
    "breast_cancer": Entry(
        "Recurrence of breast cancer, Ljubljana (IDA benchmark); categories as numbers, raw.",
        "UCI, Breast Cancer (M. Zwitter and M. Soklic)",
        ("no recurrence", "recurrence"),
        _words("age menopause tumor_size inv_nodes node_caps deg_malig breast quadrant irradiated"),
        200,
    ),
    "splice": Entry(
        "Splice junctions in DNA (IDA benchmark); 60 bases as 1 to 4, raw.",
        "UCI, Molecular Biology (Splice-junction Gene Sequences)",
        ("neither", "junction"),
        _numbered("base", 60),
        1000,
    ),
    "liver": Entry(
        "Liver disorders (BUPA), classes as the selector column; raw values.",
        "UCI, Liver Disorders",
        ("selector 1", "selector 2"),
        _words("mcv alkphos sgpt sgot gammagt drinks"),
    ),
    "tic_tac_toe": Entry(
        "Final boards of tic-tac-toe; x is 1, o is -1, blank is 0.",
        "UCI, Tic-Tac-Toe Endgame",
        ("x does not win", "x wins"),
        tuple(f"{row}_{col}" for row in ("top", "middle", "bottom") for col in ("l", "m", "r")),
    ),
    "australian": Entry(
        "Credit approval with anonymous attributes (Statlog); raw values.",
        "UCI, Statlog (Australian Credit Approval)",
        ("refused", "approved"),
        _numbered("a", 14),
    ),
    "breast": Entry(
        "Breast tumours, Wisconsin, nine scores from 1 to 10, incomplete rows left out; raw.",
        "UCI, Breast Cancer Wisconsin (Original)",
        ("malignant", "benign"),
        _words(
            "clump_thickness size_uniformity shape_uniformity adhesion epithelial_size "
            "bare_nuclei chromatin nucleoli mitoses"
        ),
    ),
}
