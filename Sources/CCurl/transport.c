// SPDX-License-Identifier: Apache-2.0
//
// Connection settings: proxy, interface, TLS files. Each transport has its own handles and connections. In tests,
// libcurl 7.88 used a connection that is bound to an interface for calls without an interface. The other settings that
// it compares for an open connection have changed from release to release.
#include "transfer.h"

static char *copy(const char *text, bool *ok) {
    if (!text) return NULL;
    char *own = strdup(text);
    if (!own) *ok = false;
    return own;
}

ccurl_transport *ccurl_transport_create(ccurl_loop *loop, const ccurl_transport_settings *s) {
    ccurl_transport *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    bool ok = true;
    t->loop = loop;
    t->proxy = copy(s->proxy, &ok);
    t->proxy_user = copy(s->proxy_user, &ok);
    t->proxy_password = copy(s->proxy_password, &ok);
    t->interface = copy(s->interface, &ok);
    t->ca_file = copy(s->ca_file, &ok);
    t->certificate_file = copy(s->certificate_file, &ok);
    t->key_file = copy(s->key_file, &ok);
    t->pins = copy(s->pins, &ok);
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
    if (t->proxy_password) explicit_bzero(t->proxy_password, strlen(t->proxy_password));
    free(t->proxy);
    free(t->proxy_user);
    free(t->proxy_password);
    free(t->interface);
    free(t->ca_file);
    free(t->certificate_file);
    free(t->key_file);
    free(t->pins);
    free(t);
}

int ccurl_transport_apply(const ccurl_transport *t, CURL *e) {
    int failed = 0;
    if (t->proxy) {
        failed |= curl_easy_setopt(e, CURLOPT_PROXY, t->proxy);
        // With null, no_proxy of the environment would apply.
        failed |= curl_easy_setopt(e, CURLOPT_NOPROXY, "");
        if (t->proxy_user) failed |= curl_easy_setopt(e, CURLOPT_PROXYUSERNAME, t->proxy_user);
        if (t->proxy_password) failed |= curl_easy_setopt(e, CURLOPT_PROXYPASSWORD, t->proxy_password);
        // The job's headers are for the server only, and the proxy's headers are not part of the answer.
        failed |= curl_easy_setopt(e, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
        failed |= curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
        failed |= curl_easy_setopt(e, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    }
    if (t->interface) failed |= curl_easy_setopt(e, CURLOPT_INTERFACE, t->interface);
    const char *ca = t->ca_file ? t->ca_file : t->loop->ca_file;
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
    if (t->certificate_file) {
        failed |= curl_easy_setopt(e, CURLOPT_SSLCERT, t->certificate_file);
        failed |= curl_easy_setopt(e, CURLOPT_SSLKEY, t->key_file ? t->key_file : t->certificate_file);
        // Without a password OpenSSL would ask for it on the terminal and wait.
        failed |= curl_easy_setopt(e, CURLOPT_KEYPASSWD, "");
    }
    if (t->pins) failed |= curl_easy_setopt(e, CURLOPT_PINNEDPUBLICKEY, t->pins);
    return failed;
}
