# Sends valid requests, and variants of each with one mistake, such as a wrong type or a missing property.
npm install --prefix . specmatic@2.55.1
# Specmatic takes other strings for violations of the pattern that forbids U+0000. The optional id in the body of a PUT or
# PATCH must equal the one in the path, which is 4 in the examples.
sed -e "s/pattern: '[^']*x00[^']*',\? \?//" -e 's/^    UnchangedId:$/&\n      enum: [4]/' $PROJECT/openapi.yaml > plants.yaml
curl $STORE/plants -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
  -d '{"id": 4, "name": "Abies alba Mill.", "tag": "Tree"}'
# The token is in a variable named after the security scheme. `npx specmatic` always exits with 0; the jar does not.
bearer=$TOKEN SPECMATIC_GENERATIVE_TESTS=true java -jar node_modules/specmatic/specmatic.jar test \
  plants.yaml --testBaseURL=$STORE \
  --overlay-file=$PROJECT/test/third-party-tools/specmatic/overlay.yaml \
  --examples=$PROJECT/test/third-party-tools/specmatic/examples
