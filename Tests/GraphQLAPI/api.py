# SPDX-License-Identifier: Apache-2.0
"""A small GraphQL API with graphql-core, for the page about GraphQL. POST /graphql answers each request with 200.

    type Query   { product(id: Int!): Product, products: [Product!]! }
    type Product { id: Int!, name: String!, stock: Int }

- Products have the ids 1 to 3. Another id is an error with the code NOT_FOUND, and `product` is null.
- The stock of product 3 is an error with the code UNAVAILABLE, and `stock` is null: partial data.
- Each query costs 6 points of a bucket of 10, which gets 4 points a second. If they are missing, the answer has an error
  with the code THROTTLED. extensions.cost has requestedQueryCost and throttleStatus, as in the API of Shopify.
"""

import time

from flask import Flask, jsonify, request
from graphql import (
    GraphQLArgument,
    GraphQLError,
    GraphQLField,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLString,
    graphql_sync,
)

app = Flask(__name__)
MOST, RATE, COST = 10.0, 4.0, 6
bucket = {"points": MOST, "at": time.monotonic()}
NAMES = {1: "Lamp", 2: "Chair", 3: "Table"}


def product(_root, _info, id):
    if id not in NAMES:
        raise GraphQLError(f"there is no product {id}", extensions={"code": "NOT_FOUND"})
    return id


def stock(id, _info):
    if id == 3:
        raise GraphQLError("the warehouse does not answer", extensions={"code": "UNAVAILABLE"})
    return id * 10


PRODUCT = GraphQLObjectType(
    "Product",
    {
        "id": GraphQLField(GraphQLNonNull(GraphQLInt), resolve=lambda id, _info: id),
        "name": GraphQLField(GraphQLNonNull(GraphQLString), resolve=lambda id, _info: NAMES[id]),
        "stock": GraphQLField(GraphQLInt, resolve=stock),
    },
)
SCHEMA = GraphQLSchema(
    GraphQLObjectType(
        "Query",
        {
            "product": GraphQLField(PRODUCT, {"id": GraphQLArgument(GraphQLNonNull(GraphQLInt))}, resolve=product),
            "products": GraphQLField(
                GraphQLNonNull(GraphQLList(GraphQLNonNull(PRODUCT))), resolve=lambda _root, _info: list(NAMES)
            ),
        },
    )
)


@app.post("/graphql")
def graphql():
    now = time.monotonic()
    bucket["points"] = min(MOST, bucket["points"] + (now - bucket["at"]) * RATE)
    bucket["at"] = now
    cost = {
        "requestedQueryCost": COST,
        "throttleStatus": {"maximumAvailable": MOST, "currentlyAvailable": round(bucket["points"], 3), "restoreRate": RATE},
    }
    if bucket["points"] < COST:
        error = {"message": "Throttled", "extensions": {"code": "THROTTLED"}}
        return jsonify(errors=[error], extensions={"cost": cost})
    bucket["points"] -= COST
    body = request.get_json()
    answer = graphql_sync(SCHEMA, body["query"], variable_values=body.get("variables")).formatted
    return jsonify(answer | {"extensions": {"cost": cost}})
