"""What pages are made of, from the values of a URL: no part of it knows Streamlit."""
