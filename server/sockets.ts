import type { SocketMessages } from './kit/socket-docs.ts'
import { notificationAck, notificationAction, notificationPush } from './modules/notifications/notifications.contract.ts'
import { pushRegister } from './modules/push/push.contract.ts'
import { topics } from './topics.ts'

/** Everything that goes over `/ws`, both ways, as modules declared it. */
export const socketMessages: SocketMessages = {
  client: [notificationAck, notificationAction, pushRegister],
  server: [notificationPush],
  topics,
  later: [
    { names: ['media.scan'], with: 'the media library' },
    { names: ['iot.state', 'iot.event'], with: 'music boxes and plugs, and their own socket `/ws/iot`' },
    { names: ['camera.alert', 'camera.capture'], with: 'cameras' },
    { names: ['job.run'], with: 'scheduled jobs' },
    {
      names: ['plugin.status', 'plugin.widget-data', 'plugin.widget.bundle-changed', 'plugin.tablet.sound', 'plugin.tablet.vibrate'],
      with: 'plugins',
    },
  ],
}
