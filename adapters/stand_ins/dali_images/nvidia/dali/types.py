"""nvidia.dali.types: its constants as NumPy and Pillow name them."""

from PIL import Image

FLOAT, FLOAT16 = "float32", "float16"


class DALIDataType:
    FLOAT, FLOAT16, INT64 = "float32", "float16", "int64"


class DALIImageType:
    RGB = "RGB"


class DALIInterpType:
    INTERP_NN, INTERP_LINEAR, INTERP_CUBIC, INTERP_LANCZOS3 = (
        Image.NEAREST,
        Image.BILINEAR,
        Image.BICUBIC,
        Image.LANCZOS,
    )
