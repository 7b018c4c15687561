// Makes docs/sockets.md from the schemas of the socket's messages: node scripts/write-socket-docs.mjs
import { writeFileSync } from 'node:fs'
import { socketDocs } from '../server/kit/socket-docs.ts'
import { socketMessages } from '../server/sockets.ts'
import { inRoot } from './project.mjs'

writeFileSync(inRoot('docs', 'sockets.md'), socketDocs(socketMessages))
