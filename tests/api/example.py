"""The first example of what is put at a path: example.py DOCUMENT PATH."""

import json
import sys

document, path = sys.argv[1:]
with open(document, encoding="utf-8") as file:
    media = json.load(file)["paths"][path]["put"]["requestBody"]["content"]["application/json"]
print(json.dumps(next(iter(media["examples"].values()))["value"]))
