// SPDX-License-Identifier: Apache-2.0
#include "cxml.h"

#include <libxml/SAX2.h>
#include <libxml/encoding.h>
#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

// The state of a check. libxml2 keeps it in parser->_private.
typedef struct {
    const char *next;
    size_t left;
    int64_t deadline;
    int entities;
    cxml_defect defect;
} check;

static int64_t cpu_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// libxml2 2.9 needs quadratic time for a tag with very many attributes, for very many names, and for very many prefixes
// (20 s for 10 MB). So it gets its input in pieces of 4 kB until the time limit. The limit is 0.3 s plus ten times
// the time of a plain document, at most 3 s.
static int64_t cpu_budget(size_t count) {
    int64_t budget = 300000000LL + (int64_t)count * 100;
    return budget < 3000000000LL ? budget : 3000000000LL;
}

static int read_more(void *context, char *buffer, int size) {
    check *check = context;
    if (check->defect.code == 0 && cpu_time() > check->deadline) { check->defect.code = CXML_TOO_SLOW; }
    if (check->defect.code != 0 || size <= 0) { return 0; }
    size_t count = check->left < (size_t)size ? check->left : (size_t)size;
    memcpy(buffer, check->next, count);
    check->next += count;
    check->left -= count;
    return (int)count;
}

// Entities are declared with an empty text. So the parser checks whether a name is declared, and no reference expands.
//
// Parameter entities are declared as external ones, which are not read. After one, an undeclared entity is no error by
// the standard. Each entity takes 400 bytes of memory, so their number is limited.
static void declare_entity(void *context, const xmlChar *name, int type, const xmlChar *public_id,
                           const xmlChar *system_id, xmlChar *content) {
    (void)content;
    xmlParserCtxtPtr parser = context;
    check *check = parser->_private;
    if (++check->entities > 10000) {
        if (check->defect.code == 0) { check->defect.code = CXML_TOO_MANY_ENTITIES; }
        xmlStopParser(parser);
    } else if (type == XML_INTERNAL_GENERAL_ENTITY) {
        xmlSAX2EntityDecl(context, name, type, NULL, NULL, (xmlChar *)"");
    } else if (type == XML_EXTERNAL_GENERAL_PARSED_ENTITY) {
        xmlSAX2EntityDecl(context, name, type, public_id, system_id, NULL);
    } else {
        xmlSAX2EntityDecl(context, name, XML_EXTERNAL_PARAMETER_ENTITY, NULL, (const xmlChar *)"none", NULL);
        parser->hasPErefs = 1;
    }
}

// Loads no external entity: no file and no URL is opened.
static xmlParserInputPtr load_nothing(const char *url, const char *id, xmlParserCtxtPtr context) {
    (void)url;
    (void)id;
    (void)context;
    return NULL;
}

// libxml2 writes errors without a parser, such as a failed conversion, to stderr. This function drops them.
static void drop_message(void *context, const char *format, ...) {
    (void)context;
    (void)format;
}

static void set_up(void) {
    xmlInitParser();
    xmlSetExternalEntityLoader(load_nothing);
}

// The first error counts, since the next ones mostly follow from it. A document with warnings is well formed.
static void note_error(void *context, const char *format, ...) {
    (void)format;
    xmlParserCtxtPtr parser = context;
    check *check = parser->_private;
    const xmlError *error = &parser->lastError;
    if (check->defect.code != 0 || error->level != XML_ERR_FATAL) { return; }
    check->defect.code = error->code;
    check->defect.line = error->line > 0 ? error->line : 0;
}

cxml_defect cxml_check(const void *bytes, size_t count, const char *charset) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_up);
    xmlSetGenericErrorFunc(NULL, drop_message);

    xmlParserCtxtPtr parser = xmlNewParserCtxt();
    if (parser == NULL) { return (cxml_defect){XML_ERR_NO_MEMORY, 0}; }
    xmlSAXHandler *sax = parser->sax;
    memset(sax, 0, sizeof *sax);
    // SAX 1 is used. It ignores namespaces, which are not checked. And it searches for a duplicate attribute while it
    // reads a tag, so the time limit applies inside a tag.
    sax->initialized = 1;
    sax->startDocument = xmlSAX2StartDocument;
    sax->internalSubset = xmlSAX2InternalSubset;
    sax->entityDecl = declare_entity;
    sax->getEntity = xmlSAX2GetEntity;
    sax->getParameterEntity = xmlSAX2GetParameterEntity;
    sax->error = note_error;
    check check = {.next = bytes, .left = count, .deadline = cpu_time() + cpu_budget(count)};
    parser->_private = &check;

    int options = XML_PARSE_NONET | XML_PARSE_NOWARNING;
    if (charset != NULL) {
        xmlCharEncodingHandlerPtr known = xmlFindCharEncodingHandler(charset);
        if (known == NULL) {
            charset = NULL;
        } else {
            xmlCharEncCloseFunc(known);
            options |= XML_PARSE_IGNORE_ENC;
        }
    }
    xmlDocPtr document = xmlCtxtReadIO(parser, read_more, NULL, &check, NULL, charset, options);
    if (check.defect.code == 0 && !parser->wellFormed) {
        check.defect.code = parser->errNo != 0 ? parser->errNo : XML_ERR_INTERNAL_ERROR;
    }
    // libxml2 2.9 takes a NUL after the root element as the end of the document.
    if (check.defect.code == 0 && (check.left > 0 || parser->input->cur < parser->input->end)) {
        check.defect = (cxml_defect){XML_ERR_INVALID_CHAR, parser->input->line};
    }
    if (document != NULL) { xmlFreeDoc(document); }
    xmlFreeParserCtxt(parser);
    return check.defect;
}
