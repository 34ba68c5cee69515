# Sourced by ./coatcheck, ./mvnw and .ci/run: a locale that this machine has. Plain enough for dash.

# Where a variable names a locale that is not installed, initdb refuses to work; without any locale, or
# with the plain C, the JVM can't open files whose names are not ASCII, and loses such arguments.
if command -v locale >/dev/null && [ -n "$(locale charmap 2>&1 >/dev/null)" ]; then
  export LC_ALL=C.UTF-8
elif [ -z "${LC_ALL:-}${LC_CTYPE:-}${LANG:-}" ]; then
  export LC_CTYPE=C.UTF-8
elif command -v locale >/dev/null && [ "$(locale charmap)" = ANSI_X3.4-1968 ]; then
  export LC_ALL=C.UTF-8
fi
