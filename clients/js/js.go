// Package js is the JavaScript client library, as files: one ES module for
// browsers and Node, callboard.js, with what it imports. The page of package web
// is served with them. See DESIGN.md.
package js

import "embed"

// Files are the module's files.
//
//go:embed acks.js callboard.js cbor.js connection.js emitter.js errors.js messages.js queue.js requests.js roam.js roster.js sequences.js serve.js session.js sides.js subscription.js tasks.js
var Files embed.FS
