# Sourced by ./coatcheck, ./mvnw, .ci/run and the launcher of a release: finds a Java 25. Plain enough
# for dash and bash 3.2.

# Whether a directory is the home of a Java 25, with or without a compiler.
is_java_25() {
  [ -x "$1/bin/java" ] || return 1
  if [ -r "$1/release" ]; then
    grep -q '^JAVA_VERSION="25[^0-9]' "$1/release"
  else
    "$1/bin/java" -version 2>&1 | grep -q 'version "25[^0-9]'
  fi
}

# The same, compiler included.
is_jdk_25() {
  [ -x "$1/bin/javac" ] && is_java_25 "$1"
}

# The path behind a chain of symbolic links; macOS long had no `readlink -f`.
follow_links() {
  local path link
  path=$1
  while [ -L "$path" ]; do
    link=$(readlink "$path")
    case $link in
      /*) path=$link ;;
      *) path=$(dirname "$path")/$link ;;
    esac
  done
  printf '%s\n' "$path"
}

# The home of the `java` on PATH, asked of itself where it is a shim.
java_home_on_path() {
  local java home
  java=$(command -v java) || return 1
  home=$(dirname "$(dirname "$(follow_links "$java")")")
  if [ ! -r "$home/release" ]; then
    home=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.home = //p')
  fi
  printf '%s\n' "$home"
}

# Prints the home of a JDK 25, or fails.
find_jdk_25() {
  find_home is_jdk_25
}

# Prints the home of a Java 25, with or without a compiler, or fails.
find_java_25() {
  find_home is_java_25
}

find_home() {
  local home
  for home in "${COATCHECK_JAVA_HOME:-}" "${JAVA_HOME:-}" "$(java_home_on_path || true)" \
    /usr/lib/jvm/* /opt/* /opt/java/* "${HOME:-}"/.sdkman/candidates/java/* "${HOME:-}"/.jdks/* \
    /Library/Java/JavaVirtualMachines/*/Contents/Home; do
    if [ -n "$home" ] && "$1" "$home"; then
      printf '%s\n' "$home"
      return 0
    fi
  done
  return 1
}

no_jdk_25='no JDK 25 found: install one (https://adoptium.net) or set COATCHECK_JAVA_HOME to its directory'
