//! Extraction: placeholder module until the goldens land.
