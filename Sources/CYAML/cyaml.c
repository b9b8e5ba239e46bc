// SPDX-License-Identifier: Apache-2.0
#include "cyaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct cyaml_parser {
    yaml_parser_t parser;
    // The last event, which owns the texts that cyaml_next returned.
    yaml_event_t event;
    bool has_event;
};

cyaml_parser *cyaml_open(const void *bytes, size_t count) {
    cyaml_parser *self = calloc(1, sizeof *self);
    if (self == NULL) { return NULL; }
    if (!yaml_parser_initialize(&self->parser)) {
        free(self);
        return NULL;
    }
    yaml_parser_set_input_string(&self->parser, bytes, count);
    return self;
}

static void release_event(cyaml_parser *self) {
    if (self->has_event) { yaml_event_delete(&self->event); }
    self->has_event = false;
}

static cyaml_event parse_error(const yaml_parser_t *parser) {
    const char *reason = parser->error == YAML_MEMORY_ERROR ? "there is not enough memory"
                         : parser->problem != NULL          ? parser->problem
                                                            : "the syntax is wrong";
    return (cyaml_event){.kind = CYAML_ERROR, .line = parser->problem_mark.line + 1, .text = reason, .length = strlen(reason)};
}

cyaml_event cyaml_next(cyaml_parser *self) {
    for (;;) {
        release_event(self);
        if (!yaml_parser_parse(&self->parser, &self->event)) { return parse_error(&self->parser); }
        self->has_event = true;
        yaml_event_t *event = &self->event;
        cyaml_event found = {.line = event->start_mark.line + 1};
        switch (event->type) {
        case YAML_DOCUMENT_START_EVENT: found.kind = CYAML_DOCUMENT; return found;
        case YAML_STREAM_END_EVENT:
        case YAML_NO_EVENT: found.kind = CYAML_END; return found;
        case YAML_SCALAR_EVENT:
            found.kind = CYAML_SCALAR;
            found.is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
            found.text = (const char *)event->data.scalar.value;
            found.length = event->data.scalar.length;
            found.anchor = (const char *)event->data.scalar.anchor;
            found.tag = (const char *)event->data.scalar.tag;
            return found;
        case YAML_ALIAS_EVENT:
            found.kind = CYAML_ALIAS;
            found.anchor = (const char *)event->data.alias.anchor;
            return found;
        case YAML_SEQUENCE_START_EVENT:
            found.kind = CYAML_SEQUENCE;
            found.anchor = (const char *)event->data.sequence_start.anchor;
            return found;
        case YAML_MAPPING_START_EVENT:
            found.kind = CYAML_MAPPING;
            found.anchor = (const char *)event->data.mapping_start.anchor;
            return found;
        case YAML_SEQUENCE_END_EVENT:
        case YAML_MAPPING_END_EVENT: found.kind = CYAML_CLOSE; return found;
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_END_EVENT: break;
        }
    }
}

void cyaml_close(cyaml_parser *self) {
    release_event(self);
    yaml_parser_delete(&self->parser);
    free(self);
}
