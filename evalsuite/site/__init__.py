"""The published site: a folder of finished reports, their history, and the pages made from them."""
