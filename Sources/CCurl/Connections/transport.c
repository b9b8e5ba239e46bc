// SPDX-License-Identifier: Apache-2.0
//
// Connection settings: proxy, interface, TLS files. Each transport has its own handles and connections. In tests,
// libcurl 7.88 used a connection that is bound to an interface for calls without an interface. The other settings that
// it compares for an open connection have changed from release to release.
#include "transfer.h"

/// The settings as a list of texts.
typedef union {
    ccurl_transport_settings named;
    char *list[sizeof(ccurl_transport_settings) / sizeof(char *)];
} texts;

enum { TEXTS = sizeof(texts) / sizeof(char *) };

ccurl_transport *ccurl_transport_create(ccurl_loop *loop, const ccurl_transport_settings *s) {
    ccurl_transport *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    bool ok = true;
    texts given = {.named = *s}, own = {0};
    for (int i = 0; i < TEXTS && ok; i++) ok = !given.list[i] || (own.list[i] = strdup(given.list[i])) != NULL;
    t->loop = loop;
    t->settings = own.named;
    for (int i = 0; i < 2 && ok; i++) ok = (t->pools[i] = ccurl_pool_create(loop)) != NULL;
    if (ok) return t;
    ccurl_transport_destroy(t);
    return NULL;
}

void ccurl_transport_destroy(ccurl_transport *t) {
    for (int i = 0; i < 2; i++) {
        if (t->pools[i]) ccurl_pool_destroy(t->pools[i]);
        if (t->unshared[i]) ccurl_pool_destroy(t->unshared[i]);
        if (t->alone[i]) ccurl_pool_destroy(t->alone[i]);
    }
    texts own = {.named = t->settings};
    if (own.named.proxy_password) explicit_bzero((char *)own.named.proxy_password, strlen(own.named.proxy_password));
    for (int i = 0; i < TEXTS; i++) free(own.list[i]);
    free(t);
}

int ccurl_transport_apply(const ccurl_transport *t, CURL *e) {
    int failed = 0;
    const ccurl_transport_settings *s = &t->settings;
    if (s->proxy) {
        failed |= curl_easy_setopt(e, CURLOPT_PROXY, s->proxy);
        // With null, no_proxy of the environment would apply.
        failed |= curl_easy_setopt(e, CURLOPT_NOPROXY, "");
        if (s->proxy_user) failed |= curl_easy_setopt(e, CURLOPT_PROXYUSERNAME, s->proxy_user);
        if (s->proxy_password) failed |= curl_easy_setopt(e, CURLOPT_PROXYPASSWORD, s->proxy_password);
        // The job's headers are for the server only, and the proxy's headers are not part of the answer.
        failed |= curl_easy_setopt(e, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
        failed |= curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
        failed |= curl_easy_setopt(e, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    }
    if (s->interface) failed |= curl_easy_setopt(e, CURLOPT_INTERFACE, s->interface);
    const char *ca = s->ca_file ? s->ca_file : t->loop->ca_file;
    if (ca) {
        failed |= curl_easy_setopt(e, CURLOPT_CAINFO, ca);
        failed |= curl_easy_setopt(e, CURLOPT_CAPATH, NULL);
        failed |= curl_easy_setopt(e, CURLOPT_PROXY_CAINFO, ca);
        failed |= curl_easy_setopt(e, CURLOPT_PROXY_CAPATH, NULL);
#if LIBCURL_VERSION_NUM >= 0x075700
        // From 7.87 on libcurl caches the authorities for a day. A replaced file must take effect within minutes.
        failed |= curl_easy_setopt(e, CURLOPT_CA_CACHE_TIMEOUT, 300L);
#endif
    }
    if (s->certificate_file) {
        failed |= curl_easy_setopt(e, CURLOPT_SSLCERT, s->certificate_file);
        failed |= curl_easy_setopt(e, CURLOPT_SSLKEY, s->key_file ? s->key_file : s->certificate_file);
        // Without a password OpenSSL would ask for it on the terminal and wait.
        failed |= curl_easy_setopt(e, CURLOPT_KEYPASSWD, "");
    }
    if (s->pins) failed |= curl_easy_setopt(e, CURLOPT_PINNEDPUBLICKEY, s->pins);
    return failed;
}
