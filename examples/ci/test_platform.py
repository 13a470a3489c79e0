"""A platform of its own for each test: npx microapps emulator exec --seed platform.yaml -- pytest"""
import json, os
from urllib.request import Request, urlopen

import pytest


def send(url, method="POST", body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
    with urlopen(Request(url, data, headers, method=method)) as answer:
        return json.load(answer)


@pytest.fixture
def call():
    own = f"{os.environ['MICROAPPS_ENDPOINT']}/_emulator/instances"
    token = f"Bearer {os.environ['MICROAPPS_EMULATOR_TOKEN']}"
    made = send(own, authorization=token)
    login = send(f"{made['address']}/api/login", body={"email": "admin@example.com", "password": "admin"})
    session = {"x_auth_token": login["authToken"], "x_user_id": login["userId"]}
    yield lambda path, body: send(f"{made['address']}/api/{path}", body=body, **session)
    send(f"{own}/{made['name']}", method="DELETE", authorization=token)


@pytest.mark.parametrize("code", ["CZ", "SK"])
def test_a_row_is_there(call, code):
    call("insertmicroapprow", {"microAppID": "countries", "rowData": {"Code": code}})
    assert [row["Code"] for row in call("microappdata", {"microAppID": "countries"})["body"]["microAppRows"]] == [code]
