"""What differs from page to page: words and the order of pictures, no machinery."""
