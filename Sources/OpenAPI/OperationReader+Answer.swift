// SPDX-License-Identifier: Apache-2.0

extension OperationReader {
    /// Adds the checks of the answer: its format, and the required properties as validator.
    ///
    /// A call that succeeded must not fail because of its answer. So the checks suit each 2xx answer that may have a
    /// body. If their schemas differ, only the properties that all of them require are required.
    func addAnswer(_ operation: JSONObject, _ spec: inout JSONObject, _ headers: inout JSONObject) {
        let codes = (operation["responses"]?.object ?? [:]).keys
            .filter { $0.utf8.count == 3 && $0.hasPrefix("2") && $0 != "204" && $0 != "205" }.sorted()
        var found: [Schema] = []
        var hasOtherTypes = false
        for code in codes {
            guard let given = operation["responses"]?[code], let answer = try? document.resolve(given),
                let content = answer["content"]?.object
            else { return }
            let types = content.keys.filter { MediaType.isJSON(MediaType.essence($0)) }
            guard let type = types.first else { return }
            hasOtherTypes = hasOtherTypes || types.count < content.keys.count
            found.append(schemas.schema(content[type]?["schema"] ?? .null))
        }
        guard !found.isEmpty else { return }
        if hasOtherTypes, headers["Accept"] == nil { headers["Accept"] = "application/json" }
        spec["response_format"] = "json"
        if let validator = schemas.shape(Schema.union(found), isAnswer: true) { spec["validator"] = validator }
    }
}
