# Sends one request per operation, made from the contract's examples, and checks status, content type and schema.
npx --yes @redocly/cli@2.77.0 generate-arazzo $PROJECT/openapi.yaml -o plants.arazzo.yaml
# The contract's own server is `/`.
npx --yes @redocly/cli@2.77.0 respect plants.arazzo.yaml --input bearer=$TOKEN --server openapi=$STORE
