# Makes a Postman collection with assertions, and runs it with Newman. Portman does not declare that it depends on tslib.
npx --yes -p @apideck/portman@1.33.0 -p tslib portman -l $PROJECT/openapi.yaml -b $STORE \
  -c $PROJECT/test/third-party-tools/portman.json -o collection.json --runNewman
