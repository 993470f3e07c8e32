#!/bin/sh
# Creates missing files in secrets/, and selects a profile in .env if it has none. Existing files and settings never change. Store the
# folder apart from copies of the database.
set -eu
cd "$(dirname "$0")/.."
command -v od >/dev/null || { echo "✗ The program od is missing: install coreutils." >&2; exit 1; }
umask 077
mkdir -p secrets
keep() { [ -s "secrets/$1" ] || printf '%s' "$2" >"secrets/$1"; }
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }

keep frontage_secret "$(random)"
keep unused_secret "$(random)"
keep sealing_keys "v1:$(random)"
keep challenge_key "$(random)"
keep postgres_password "$(random)"
keep s3_key_id frontage
keep s3_secret "$(random)"
keep zones_key "$(random)"
keep database_url "postgres://frontage:$(cat secrets/postgres_password)@postgres:5432/frontage"
# The same database, with the role that builds have.
keep builds_database_url "$(sed "s#//[^@]*@#//frontage_builds:$(random)@#" secrets/database_url)"
# Containers read the files as the image's user; on this machine only the owner can open the folder.
chmod 700 secrets && chmod 444 secrets/*
grep -qs '^COMPOSE_PROFILES=' .env || printf '\nCOMPOSE_PROFILES=full\n' >>.env
