# Sourced by ./coatcheck, ./mvnw and .ci/run: a locale that this machine has. Plain enough for dash.

# Without a locale the JVM can't open files whose names are not ASCII, and where LANG or LC_ALL name
# a locale that is not installed, initdb refuses to work.
if [ -z "${LC_ALL:-}${LC_CTYPE:-}${LANG:-}" ]; then
  export LC_CTYPE=C.UTF-8
elif command -v locale >/dev/null && [ -n "$(locale charmap 2>&1 >/dev/null)" ]; then
  export LC_ALL=C.UTF-8
fi
