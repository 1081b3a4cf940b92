"""Token files made on the spot, without a hub: from the user's text, from a generator, or the demo corpus.

``text`` reads documents, ``tokenizers`` turns them into ids, ``write`` shuffles and writes the token file;
``build`` joins the three. ``synth`` needs no text, ``demo`` (with ``demo.toml`` and ``wheels``) brings its
own.
"""
