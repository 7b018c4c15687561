import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

const MINUTE_MS = 60_000

export default mergeConfig(
  { ...base, test: { ...base.test, include: [], exclude: ['node_modules/**'] } },
  defineConfig({ test: { include: ['test/long/**/*.test.ts'], maxWorkers: 1, testTimeout: 30 * MINUTE_MS, passWithNoTests: true } }),
)
