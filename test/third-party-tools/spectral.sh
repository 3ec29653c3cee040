echo 'extends: ["spectral:oas"]' > ruleset.yaml
npx --yes @stoplight/spectral-cli@6.16.3 lint $PROJECT/openapi.yaml --ruleset ruleset.yaml --fail-severity=hint
