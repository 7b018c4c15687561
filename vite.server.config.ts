import { defineConfig } from 'vite'

/** Files that run in processes and threads of their own are started by their address, beside the server's. */
const STARTED_BY_ADDRESS = [
  'server/modules/models/llama/llama-host.ts',
  'server/modules/memory/vectors/graph-worker.ts',
  'server/modules/calendar/ics-worker.ts',
]

/** Native packages, and those that look for files beside their own; they stay as npm installed them. */
const UNBUNDLED = ['better-sqlite3', 'hnswlib-node', 'node-llama-cpp', 'firebase-admin', 'expo-server-sdk', 'pino']

/** The drivers that TypeORM asks for by name when a database of their kind is opened; ours is SQLite. */
const UNUSED_DRIVERS =
  /^(@google-cloud\/spanner|@sap\/hana-client|ioredis|mongodb|mssql|mysql2?|oracledb|pg|pg-native|pg-query-stream|react-native-sqlite-storage|redis|sql\.js|typeorm-aurora-data-api-driver)(\/|$)/

/** The server as `start` and the packaged app run it: few files with its packages inside start in half the time and take less memory. */
export default defineConfig({
  publicDir: false,
  ssr: {
    noExternal: true,
    external: UNBUNDLED,
    // As Node itself finds them, so that what is tested from the sources is what runs.
    resolve: { mainFields: ['main'] },
  },
  build: {
    ssr: true,
    outDir: 'dist/server',
    target: 'node24',
    minify: false,
    sourcemap: false,
    rolldownOptions: {
      input: ['server/server.ts', ...STARTED_BY_ADDRESS],
      external: UNUSED_DRIVERS,
      // depd, beneath Koa, names its wrappers by one.
      checks: { eval: false },
      output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
    },
  },
})
