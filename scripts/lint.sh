#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks every rule of the project that a program can check. Prints one line per rule, ends non-zero if one fails.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/checks.sh

# SwiftPM makes folders in the home directory. This setting moves them into .build.
mkdir -p .build/home
swift() { HOME=$PWD/.build/home CFFIXED_USER_HOME=$PWD/.build/home command swift "$@"; }

# Checks tracked and new files, so that a violation shows before the commit.
files() { git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do [[ -f $f ]] && echo "$f"; done; }

# none PATTERN GLOB…: succeeds if no line of these files matches.
none() {
    local pattern=$1
    shift
    local -a list
    mapfile -t list < <(files "$@" | grep -vx scripts/lint.sh)
    ! grep -nE "$pattern" "${list[@]}" /dev/null
}

# at_most_lines LIMIT GLOB…: the files in scripts/size_exceptions.txt have other limits.
at_most_lines() {
    local limit=$1 status=0 file lines most
    shift
    while read -r file; do
        lines=$(wc -l <"$file")
        most=$limit
        if ((lines > limit)); then most=$(awk -v f="$file" '$1 == f { print $2 }' scripts/size_exceptions.txt); fi
        if ((lines > ${most:-$limit})); then
            echo "$file: $lines lines, at most ${most:-$limit}"
            status=1
        fi
    done < <(files "$@")
    return $status
}

licence_lines() {
    local status=0 file
    while read -r file; do
        if ! head -2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0'; then
            echo "$file: its first line (second after #!) must name the licence"
            status=1
        fi
    done < <(files '*.swift' '*.sql' '*.c' '*.h' '*.sh' '*.py' .ci/run Makefile Dockerfile '*.yml' 'ops/*.yaml' 'ops/*.service' ':!Package.swift')
    return $status
}

# A numbered migration that a release has shipped must never change. If it does, git shows a changed line of CHECKSUMS.
generated_lists() { .postrider/venv/bin/python scripts/generate_lists.py --check; }

# A literal may be longer, because it is one sentence or one pattern.
sql_columns() {
    local -a list
    mapfile -t list < <(files 'migrations/*.sql')
    awk 'length > 120 {
             rest = $0
             gsub(/\047([^\047]|\047\047)*\047?/, "", rest)
             if (length(rest) > 60 || FILENAME ~ /migrations\/[0-9]/) { print FILENAME ":" FNR ": " length " columns"; bad = 1 }
         }
         END { exit bad }' "${list[@]}"
}

# The baseline must be readable from top to bottom.
baseline_form() {
    local -a list
    mapfile -t list < <(files 'migrations/[0-9]*.sql' | grep -E '/00(0[1-9]|1[0-5])_')
    ! grep -niE '^ *(drop|update|delete) |^ *do \$|if (not )?exists|alter (table|type) .*(add|drop|rename)|^ *(add|drop) column' \
        "${list[@]}"
}

# The calling session's settings apply when PostgreSQL reads the text of a function. With standard_conforming_strings
# off, a backslash in '…' has another meaning. In E'…' it always has the same meaning.
escaped_backslashes() {
    local -a list
    mapfile -t list < <(files 'migrations/functions/*.sql' 'migrations/views/*.sql')
    awk '/^ *--/ { next }
         { rest = $0; gsub(/[^A-Za-z]E\047([^\047\\]|\\.|\047\047)*\047/, "", rest) }
         index(rest, "\\") { print FILENAME ":" FNR ": write the literal with a backslash as E\047…\047"; bad = 1 }
         END { exit bad }' "${list[@]}"
}

# In a database with a Turkish collation, lower('I') is not 'i'. HTTP, URLs and cron compare ASCII text without case.
# (s and statuses are multiranges.)
ascii_case() {
    local -a list
    mapfile -t list < <(files 'migrations/functions/*.sql' 'migrations/views/*.sql')
    awk '/^ *--/ { next }
         /[^_a-z]lower\(/ && !/collate "C"|lower\((s|[a-z_.]*statuses)\)/ {
             print FILENAME ":" FNR ": lower text with collate \"C\""; bad = 1 }
         END { exit bad }' "${list[@]}"
}

# A patch that no longer fits its file would fail only in `make planted-bugs`, which CI does not run.
planted_bugs() {
    local status=0 file
    for file in Tests/PlantedBugs/*.patch; do git apply --check "$file" || status=1; done
    return $status
}

shell_syntax() {
    local status=0 file
    while read -r file; do bash -n "$file" || status=1; done < <(files '*.sh' .ci/run)
    return $status
}

check 'swift format' swift format lint --strict -r Sources Tests migrations
check 'files of at most 300 lines' at_most_lines 300 '*.swift' 'migrations/[0-9]*.sql' '*.c' '*.h' '*.sh' '*.py' ':!Tests/Fixtures'
check 'SQL functions of at most 120 lines' at_most_lines 120 'migrations/functions/*.sql'
check 'README of at most 120 lines' at_most_lines 120 README.md
check 'ARCHITECTURE of at most 150 lines' at_most_lines 150 ARCHITECTURE.md
check 'decisions of at most 60 lines' at_most_lines 60 'docs/decisions/*.md'
check 'licence line' licence_lines
check 'lists of migrations' generated_lists
check 'lines of SQL' sql_columns
check 'form of the baseline' baseline_form
check 'backslashes in E literals' escaped_backslashes
check 'lower with collate "C"' ascii_case
# In some locales these classes contain the digits and letters of every script.
check 'no \d and \w in SQL' none '\\[dDwW]' 'migrations/functions/*.sql' 'migrations/views/*.sql'
check 'no TODO without an issue' none '\b(TODO|FIXME|XXX)\b($|[^(]|\([^#])' '*.swift' '*.sql' '*.c' '*.h' '*.sh' '*.py' '*.md'
check 'no try!' none '\btry!' '*.swift'
# Readers name the columns of a result (PGColumn), so that a changed SELECT list cannot shift their values.
check 'columns by name' none '\.(isNull|int16|int32|int64|bool|float8|timestamp|text|optionalText|optionalInt64|jsonb|bytes|byteCount|uuid|int64s|int32s|texts|byteArrays|append|withUnsafeBytes)\([^,()]+, [0-9]+[,)]' \
    'Sources/*.swift' ':!Sources/PGClient'
check 'no banner comments' none '^ *(//|--|#) ?[-=*#]{4,}' '*.swift' '*.sql' '*.sh' '*.py'
check 'Sources without Foundation' none '^ *(public |package |internal |private )?import Foundation' 'Sources/*.swift'
check 'prose' .postrider/venv/bin/python scripts/check_prose.py
check 'messages' .postrider/venv/bin/python scripts/list_messages.py --check
check 'links of pages' .postrider/venv/bin/python scripts/check_links.py
check 'C files without circles' .postrider/venv/bin/python scripts/check_c_files.py
check 'planted bugs fit' planted_bugs
check 'shell syntax' shell_syntax
check 'yamllint' .postrider/venv/bin/python -m yamllint --strict docker-compose.yml ops
check 'Kubernetes manifests' .postrider/venv/bin/python -B scripts/check_manifests.py
check 'imports are declared' swift build --build-tests --explicit-target-dependency-import-check error

exit $failed
