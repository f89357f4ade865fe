"""Results as pages that can be sent around: one file each, with the result inside as JSON.

A page is made in two steps: a document (JSON: what is told, a module a kind of input), then markup of it. So
every figure on a page is one of the document's, and says where it is in there.
"""
