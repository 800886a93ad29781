"""Files of HDF5 that make a library crash, or with unexpected content; and formats that end their process."""

import os
import sys

import h5py
import numpy as np

GOOD = np.array([1, 5, 3], np.float32)


def _half(file):
    file["bad"] = np.array([1, 3, 2], np.float16)


def _long_double(file):
    file["bad"] = np.ones(3, np.longdouble)


def _null(file):
    file.create_dataset("bad", data=h5py.Empty("f4"))


def _dead_link(file):
    file["bad"] = h5py.SoftLink("/nowhere")


def _dead_file(file):
    file["bad"] = h5py.ExternalLink("gone.h5", "/x")


def _link_to_itself(file):
    file["bad"] = h5py.SoftLink("/bad")


def _cycle(file):
    group = file.create_group("group")
    group["bad"] = file["/"]
    group["again"] = group


def _dimensions_as_text(file):
    file["bad"] = GOOD
    for name in ("good", "bad"):
        file[name].attrs["DIMENSION_LIST"] = "x"


def _dimensions_as_numbers(file):
    file["bad"] = GOOD
    for name in ("good", "bad"):
        file[name].attrs["DIMENSION_LIST"] = [7]


def _scale_in_name_only(file):
    file["good"].attrs["CLASS"] = np.bytes_("DIMENSION_SCALE")
    file["good"].attrs["REFERENCE_LIST"] = "x"
    file["bad"] = GOOD


def _list_of_scales(make):
    """A file whose array can grow along a scale, which says by an attribute what else it is attached to."""

    def write(file):
        file.create_dataset("bad", data=GOOD, maxshape=(None,))
        scale = file.create_dataset("scale", data=GOOD[:2], maxshape=(None,))
        scale.make_scale("x")
        file["bad"].dims[0].attach_scale(scale)
        del scale.attrs["REFERENCE_LIST"]
        scale.attrs["REFERENCE_LIST"] = make(file)

    return write


def _attached_to(*places):
    """References of the type that the library writes, each with an axis."""
    kind = np.dtype([("dataset", h5py.ref_dtype), ("dimension", "i4")])
    return lambda file: np.array([(reference(file), axis) for reference, axis in places], kind)


def _attributes(file):
    file["bad"] = GOOD
    for name in ("good", "bad"):
        attrs = file[name].attrs
        attrs["scale_factor"] = "much"
        attrs["add_offset"] = h5py.Empty("f4")
        attrs["_FillValue"] = file["good"].ref
        attrs["units"] = np.array([1, 2])
        attrs["coordinates"] = "bad good nothing / .."


def _compound(file):
    file["bad"] = np.ones(3, [("a", "f4"), ("b", "i8")])


def _references(file):
    file.create_dataset("bad", data=file["good"].ref, dtype=h5py.ref_dtype)


def _lists(file):
    file.create_dataset("bad", (3,), h5py.vlen_dtype("i4"))


def _named_type(file):
    file["bad"] = np.dtype("f4")


def _odd_bits(file):
    kind = h5py.h5t.STD_I32LE.copy()
    kind.set_precision(17)
    kind.set_offset(3)
    h5py.h5d.create(file.id, b"bad", kind, h5py.h5s.create_simple((3,)))


# What a file holds beside an array that is in order, and the largest element of `bad`, or the reason it has none.
FILES = {
    "float16": (_half, 3),
    "long double": (_long_double, "max: cannot take elements of type float128"),
    "null dataspace": (_null, "'x.h5': variable 'bad' has no elements: its dataspace is null"),
    "dead link": (_dead_link, "'x.h5': it has no variable 'bad'"),
    "link to a file that is gone": (_dead_file, "'x.h5': it has no variable 'bad'"),
    "link to itself": (_link_to_itself, "'x.h5': it has no variable 'bad'"),
    "group that holds the root": (_cycle, "'x.h5': it has no variable 'bad'"),
    "DIMENSION_LIST as text": (_dimensions_as_text, 5),
    "DIMENSION_LIST as numbers": (_dimensions_as_numbers, 5),
    "scale in name only": (_scale_in_name_only, 5),
    "REFERENCE_LIST as text": (_list_of_scales(lambda file: "x"), 5),
    "REFERENCE_LIST as numbers": (_list_of_scales(lambda file: [1, 2]), 5),
    "REFERENCE_LIST of pairs of numbers": (_list_of_scales(lambda file: np.ones(2, "i4,i4")), 5),
    "REFERENCE_LIST of what is not an array": (
        _list_of_scales(
            _attached_to(
                (lambda file: h5py.Reference(), 0),
                (lambda file: file.ref, 0),
                (lambda file: file["good"].ref, 7),
                (lambda file: file["good"].ref, -1),
            )
        ),
        5,
    ),
    "attributes of wrong types": (_attributes, 5),
    "compound": (_compound, "max: cannot take elements of type [('a', '<f4'), ('b', '<i8')]"),
    "references": (_references, "max: cannot take elements of type object"),
    "lists": (_lists, "max: cannot take elements of type object"),
    "named type": (_named_type, "'x.h5': it has no variable 'bad'"),
    "odd bits": (_odd_bits, 0),
}


def write(path, name):
    """Write one of the files."""
    with h5py.File(path, "w") as file:
        file["good"] = GOOD
        FILES[name][0](file)


class EndsAtOpening:
    """A format whose library ends the process when it opens a file."""

    def __init__(self, path):
        os.abort()


class EndsAtReading:
    """A format whose library ends the process when it reads, and prints before."""

    def __init__(self, path):
        os.write(1, b"this is not an answer")

    def describe(self, variable):
        os.write(1, b"neither is this")
        return "described"

    def read(self, path, place):
        sys.stderr.write("free(): invalid pointer")
        os._exit(3)


class Raises:
    """A format that raises errors which cannot be sent."""

    def __init__(self, path):
        pass

    def describe(self, variable):
        error = ValueError("wrong")
        error.hold = lambda: None
        raise error
