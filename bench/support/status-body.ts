/** The answer of `GET /api/status`, made anew at every call as a server would. */
export const statusBody = () => ({
  status: 'ok',
  uptime: Math.round(performance.now() / 100) / 10,
  connectedDevices: 0,
  mediaStats: { totalFiles: 0, totalSize: 0, byType: { video: 0, audio: 0, image: 0, document: 0 } },
})
