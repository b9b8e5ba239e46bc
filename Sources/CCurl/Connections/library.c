// SPDX-License-Identifier: Apache-2.0
//
// libcurl as a library, and the clock.
#include "connections.h"

#include <locale.h>
#include <signal.h>
#include <time.h>

int64_t ccurl_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t ccurl_wall_seconds(void) { return time(NULL); }

int ccurl_global_start(void) {
    // OpenSSL writes with write(2), and CURLOPT_NOSIGNAL leaves SIGPIPE to the program.
    signal(SIGPIPE, SIG_IGN);
    // With SIGXFSZ ignored, a limit of file sizes (ulimit -f) fails a write, which ends a download instead of the
    // program.
    signal(SIGXFSZ, SIG_IGN);
    // libidn2 reads host names in the encoding of the locale. In "C" it would refuse every name beyond ASCII.
    setlocale(LC_CTYPE, "C.UTF-8");
    return ccurl_start_with_buffers();
}

unsigned ccurl_version_number(void) { return curl_version_info(CURLVERSION_NOW)->version_num; }
const char *ccurl_version_text(void) { return curl_version_info(CURLVERSION_NOW)->version; }
bool ccurl_has_feature(unsigned bit) { return ((unsigned)curl_version_info(CURLVERSION_NOW)->features & bit) != 0; }
