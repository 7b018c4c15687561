import type { Module } from '../../kit/module.ts'
import type { LearningService } from './learning.service.ts'

export function createLearning({ learning }: { learning: LearningService }): Module {
  return { name: 'learning', start: learning.start, stop: learning.stop }
}
