# Sends one request per operation, made from the contract's examples, and checks status, content type and schema.
node $PROJECT/tools/lint/analyze.ts redocly generate-arazzo $PROJECT/openapi.yaml -o plants.arazzo.yaml
# The contract's own server is `/`.
node $PROJECT/tools/lint/analyze.ts redocly respect plants.arazzo.yaml --input bearer=$TOKEN --server openapi=$STORE
