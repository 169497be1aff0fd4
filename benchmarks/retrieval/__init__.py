"""How well recall finds what is asked for, beside grep, plain BM25 and other memory tools."""
