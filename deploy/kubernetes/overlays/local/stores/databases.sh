#!/bin/sh
# A database and a role for each service, which no other role may open. PostgreSQL's image runs it at the first start.
set -eu
for service in tasks billing media; do
  password=$(printenv "$(echo "$service" | tr '[:lower:]' '[:upper:]')_PASSWORD")
  psql --no-psqlrc --username "${POSTGRES_USER:-postgres}" --dbname postgres \
    --set ON_ERROR_STOP=1 --set name="$service" --set password="$password" << 'SQL'
CREATE ROLE :"name" LOGIN PASSWORD :'password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE CONNECT ON DATABASE :"name" FROM PUBLIC;
SQL
done
