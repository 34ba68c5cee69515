#!/usr/bin/env python3
"""Sealed public IDs, computed a second time: check.py checks the vectors beside it, and
`check.py make` prints them. Needs nothing but Python 3."""
import hashlib, hmac, json, os, sys

def multiply(a, b):
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a, b = (a << 1) ^ (0x11B if a & 0x80 else 0), b >> 1
    return product

def substitution():
    box = []
    for value in range(256):
        inverse = next((i for i in range(256) if multiply(value, i) == 1), 0)
        turned = 0x63
        for turn in range(5):
            turned ^= (inverse << turn | inverse >> (8 - turn)) & 0xFF
        box.append(turned)
    return box

BOX = substitution()

def round_keys(key):  # of AES-256, by FIPS 197
    words, constant = [list(key[i:i + 4]) for i in range(0, 32, 4)], 1
    for i in range(8, 60):
        word = words[-1]
        if i % 8 == 0:
            word = [BOX[b] for b in word[1:] + word[:1]]
            word[0], constant = word[0] ^ constant, multiply(constant, 2)
        elif i % 8 == 4:
            word = [BOX[b] for b in word]
        words.append([a ^ b for a, b in zip(words[i - 8], word)])
    return [sum(words[i:i + 4], []) for i in range(0, 60, 4)]

def encipher(key, block):
    keys = round_keys(key)
    state = [a ^ b for a, b in zip(block, keys[0])]
    for number in range(1, 15):
        state = [BOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16)]
        if number < 14:
            state = [multiply(state[c + r], 2) ^ multiply(state[c + (r + 1) % 4], 3)
                     ^ state[c + (r + 2) % 4] ^ state[c + (r + 3) % 4]
                     for c in range(0, 16, 4) for r in range(4)]
        state = [a ^ b for a, b in zip(state, keys[number])]
    return bytes(state)

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

def base62(number, width):
    text = ""
    for _ in range(width):
        number, digit = divmod(number, 62)
        text = ALPHABET[digit] + text
    return text

def derived(secret, label):
    return hmac.new(secret, b"coatcheck sealed v1 " + label, hashlib.sha256).digest()

def sealed(secret, prefix, key):
    tag = hashlib.sha256(b"coatcheck sealed v1\0" + prefix.encode()).digest()[:8]
    token = encipher(derived(secret, b"cipher"), key.to_bytes(8, "big") + tag)
    text = prefix + "_" + base62(int.from_bytes(token, "big"), 22)
    check = sum(w * byte for w, byte in enumerate(reversed(text.encode()), 1)) % 3833
    return {"seal_key": secret.hex(), "fingerprint": derived(secret, b"fingerprint")[:8].hex(),
            "prefix": prefix, "key": str(key), "id": text + base62(check, 2)}

if sys.argv[1:] == ["make"]:
    cases = [(bytes([n]) * 32, prefix, key) for n in (1, 0xAB) for prefix in ("ch", "msg", "sk_live")
             for key in (0, 1, 4194304, 7 * 10**17, 2**63 - 1)]
    print(json.dumps({"ids": [sealed(*case) for case in cases]}, indent=1))
else:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "sealed.json")) as file:
        vectors = json.load(file)["ids"]
    wrong = [v for v in vectors if v != sealed(bytes.fromhex(v["seal_key"]), v["prefix"], int(v["key"]))]
    print(f"{len(vectors)} vectors, {len(wrong)} wrong")
    sys.exit(1 if wrong or not vectors else 0)
