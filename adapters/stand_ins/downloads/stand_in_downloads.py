"""Answers downloads from files: EVALSUITE_DOWNLOADS is "URL=FILE URL=FILE …". What is not named goes to the network.

For scripts that fetch a vocabulary by `requests` before they train.
"""

import os
from io import BytesIO
from pathlib import Path

from after_import import after_import

FILES = dict(pair.rsplit("=", 1) for pair in os.environ.get("EVALSUITE_DOWNLOADS", "").split())


def _stand_in(requests):
    choose = requests.Session.get_adapter

    class FileAdapter(requests.adapters.BaseAdapter):
        def send(self, request, **kwargs):
            content = Path(FILES[request.url]).read_bytes()
            answer = requests.models.Response()
            answer.status_code, answer.url, answer.request, answer.raw = 200, request.url, request, BytesIO(content)
            answer.headers = requests.structures.CaseInsensitiveDict(
                {"ETag": '"stand-in"', "Content-Length": str(len(content))}
            )
            return answer

        def close(self):
            pass

    def get_adapter(self, url):
        return FileAdapter() if url in FILES else choose(self, url)

    requests.Session.get_adapter = get_adapter


after_import("requests", _stand_in)
