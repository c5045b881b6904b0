#!/bin/sh
# A database and a role for each service. PostgreSQL's image runs it at the first start.
set -eu
for service in tasks billing media; do
  password=$(printenv "$(echo "$service" | tr a-z A-Z)_PASSWORD")
  psql --set ON_ERROR_STOP=1 --set name="$service" --set password="$password" << 'SQL'
CREATE ROLE :"name" LOGIN PASSWORD :'password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE CONNECT ON DATABASE :"name" FROM PUBLIC;
SQL
done
