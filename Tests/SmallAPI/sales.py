# SPDX-License-Identifier: Apache-2.0
"""The part of the small API below /sales: contacts of a CRM, and payments.

    PUT  /sales/contacts/KEY {"name", "email"?, "version"}   {"key", "name", "email", "version"}, as it is stored now;
                                                             a version below the stored one changes nothing
    GET  /sales/contacts?after&limit                         {"items", "next"}, in the order of KEY; next is null at the end
    POST /sales/payments {"order", "amount", "card"}         201 {"id", "order", "amount", "status": "pending"}
                                                             the same Idempotency-Key gets the first answer again
                                                             card "declined": 402; card "slow": the first answer takes 3 s
    GET  /sales/payments/ID                                  the payment; the second call finds it "paid"
    GET  /sales/payments?order                               {"items"}: the payments of an order
    POST /sales/payments/ID/refund {"amount"}                201 {"id", "payment", "amount"}; 409 above what is left
"""

import time

from flask import Blueprint, jsonify, request

sales = Blueprint("sales", __name__, url_prefix="/sales")
contacts, payments, refunds, keys = {}, [], [], {}


def body():
    return request.get_json(silent=True) or {}


@sales.put("/contacts/<path:key>")
def upsert(key):
    stored = contacts.get(key)
    if stored is None or body().get("version", 0) >= stored["version"]:
        stored = {"key": key, "name": body().get("name"), "email": body().get("email"), "version": body().get("version", 0)}
        contacts[key] = stored
    return jsonify(stored)


@sales.get("/contacts")
def list_contacts():
    after, limit = request.args.get("after", ""), request.args.get("limit", 10, type=int)
    rest = sorted(key for key in contacts if key > after)
    return jsonify(items=[contacts[key] for key in rest[:limit]], next=rest[limit - 1] if len(rest) > limit else None)


@sales.post("/payments")
def create():
    key = request.headers.get("Idempotency-Key")
    if key not in keys:
        if body().get("card") == "declined":
            return jsonify(error="the card was declined"), 402
        payment = {"id": len(payments) + 1, "order": body().get("order"), "amount": body().get("amount"), "status": "pending"}
        payments.append(payment)
        keys[key] = dict(payment)
        if body().get("card") == "slow":
            time.sleep(3)
    return jsonify(keys[key]), 201


def found(number):
    return payments[number - 1] if 0 < number <= len(payments) else None


@sales.get("/payments/<int:number>")
def payment(number):
    if (stored := found(number)) is None:
        return jsonify(error=f"payment {number} does not exist"), 404
    answer = dict(stored)
    stored["status"] = "paid"
    return jsonify(answer)


@sales.get("/payments")
def find():
    return jsonify(items=[payment for payment in payments if payment["order"] == request.args.get("order")])


@sales.post("/payments/<int:number>/refund")
def refund(number):
    if (stored := found(number)) is None:
        return jsonify(error=f"payment {number} does not exist"), 404
    key = request.headers.get("Idempotency-Key")
    if key not in keys:
        refunded = sum(refund["amount"] for refund in refunds if refund["payment"] == number)
        if refunded + body().get("amount", 0) > stored["amount"]:
            return jsonify(error="the payment has less left"), 409
        refunds.append({"id": len(refunds) + 1, "payment": number, "amount": body().get("amount", 0)})
        keys[key] = refunds[-1]
    return jsonify(keys[key]), 201
