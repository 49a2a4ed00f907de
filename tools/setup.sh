# What ./run needs before any verb; sourced, with the repository as working folder. Each step leaves a stamp and is skipped
# while the stamp fits. Progress goes to stderr, so that a verb's own last line stays the last one.

venv=.venv

# usage: setup <extra>; `demo` is a part of `test`
setup() {
  mkdir -p build
  exec 9> build/setup.lock
  if command -v flock > /dev/null; then flock 9; fi # two runs at once in one checkout: the second one waits
  environment "$1"
  java_home
  delta_jars
  PYTHON=$python jvm-stubs/build 9>&- || fail "the Scala stubs do not compile; the compiler's message is above."
  exec 9>&-
}

say() { echo "run: $*" >&2; }

fail() {
  say "$*"
  exit 1
}

# --- One version of Spark -------------------------------------------------------------------------------------------

# usage: use_spark 4.1, before setup; the versions are those of tools/spark_versions.txt
# The version that the lock has is that of .venv. Another one gets a .venv-4.1, and its own jars beside the others.
use_spark() {
  spark=$(grep -x "$1\.[0-9]*" tools/spark_versions.txt) || fail "This tree is not made for Spark '$1'." \
    "Name one of these: $(cut -d. -f1,2 tools/spark_versions.txt | tr '\n' ' ')"
  grep -qx "pyspark==$spark" tools/requirements.lock && return
  venv=.venv-$1
  SPARK_COLOCATE_DELTA_JARS=$PWD/build/jars_$1
}

# The lock's packages, and another PySpark; the package itself is read from the tree (PYTHONPATH).
environment_of_spark() {
  export PYTHONPATH="$PWD/python:$PWD${PYTHONPATH:+:$PYTHONPATH}"
  mark="$PWD $spark $(cksum < tools/requirements.lock)"
  grep -qxF "$mark" "$venv/stamp" 2> /dev/null && return
  [ -x "$python" ] || make_venv
  say "installing PySpark $spark and the packages of tools/requirements.lock into $venv (a few minutes the first time)"
  sed "s/^pyspark==.*/pyspark==$spark/" tools/requirements.lock > "$venv/requirements.txt"
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --requirement "$venv/requirements.txt" \
    9>&- >&2 || fail "pip could not install them; its message is above. Run ./run again once it is mended."
  printf '%s\n' "$mark" > "$venv/stamp"
}

# --- Python ---------------------------------------------------------------------------------------------------------

environment() {
  python=$PWD/$venv/bin/python
  [ "$venv" = .venv ] || { environment_of_spark && return; }
  mark="$PWD $(cat pyproject.toml tools/requirements.lock | cksum)"
  grep -qxF "$mark $1" .venv/stamp 2> /dev/null && return
  [ -x "$python" ] || make_venv
  say "installing the package with its extra '$1' into .venv (a few minutes the first time)"
  "$python" -m pip install --quiet --disable-pip-version-check --constraint tools/requirements.lock \
    --editable ".[$1]" 9>&- >&2 ||
    fail "pip could not install the package; its message is above. Run ./run again once it is mended."
  printf '%s\n' "$mark demo" "$mark $1" > .venv/stamp
}

make_venv() {
  for candidate in ${PYTHON:-} python3.12 python3.11 python3.13 python3; do
    if "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
      say "making $venv with $("$candidate" --version)"
      "$candidate" -m venv --clear "$venv" 9>&- && return
    fi
  done
  fail "no Python 3.11 or newer with venv was found. On Debian or Ubuntu type: apt-get install python3 python3-venv" \
    "Or name one: PYTHON=/path/to/python3.12 ./run"
}

# --- Java 17 or 21 --------------------------------------------------------------------------------------------------

java_home() {
  find_java || { install_java && find_java; } || fail "Spark needs Java 17 or 21, and none was found." \
    "On Debian or Ubuntu type: sudo apt-get install openjdk-17-jre-headless   Or set JAVA_HOME to an installed one."
  export JAVA_HOME
  PATH=$JAVA_HOME/bin:$PATH
}

find_java() {
  for candidate in "${JAVA_HOME:-/none}/bin/java" "$(command -v java || :)" /usr/lib/jvm/*/bin/java /usr/java/*/bin/java \
    /opt/*/bin/java /opt/java/*/bin/java "${HOME:-}"/.sdkman/candidates/java/*/bin/java "${HOME:-}"/.jdks/*/bin/java \
    /opt/homebrew/opt/openjdk@*/bin/java /Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java; do
    [ -x "$candidate" ] || continue
    facts=$("$candidate" -XshowSettings:properties -version 2>&1) || continue
    case $(printf '%s\n' "$facts" | sed -n 's/^ *java.specification.version = //p') in
      17 | 21) JAVA_HOME=$(printf '%s\n' "$facts" | sed -n 's/^ *java.home = //p') && return ;;
    esac
  done
  return 1
}

install_java() {
  if [ "$(id -u)" = 0 ]; then root=; elif sudo -n true 2> /dev/null; then root="sudo -n"; else return 1; fi
  if command -v apt-get > /dev/null; then
    say "no Java 17 or 21 found: installing one with apt-get"
    $root apt-get update -qq >&2 || return 1
    for version in 17 21; do # newer releases carry 21 alone
      DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq "openjdk-$version-jre-headless" >&2 && return
    done
  elif command -v dnf > /dev/null; then
    say "no Java 17 or 21 found: installing one with dnf"
    for version in 17 21; do
      $root dnf install -y -q "java-$version-openjdk-headless" >&2 && return
    done
  fi
  return 1
}

# --- Delta's jars, by Spark's own resolution --------------------------------------------------------------------------

delta_jars() {
  SPARK_COLOCATE_DELTA_JARS=${SPARK_COLOCATE_DELTA_JARS:-$PWD/build/jars}
  export SPARK_COLOCATE_DELTA_JARS
  "$python" tools/maven_jars.py "$SPARK_COLOCATE_DELTA_JARS" 9>&- || fail "Delta's jars could not be fetched."
}
