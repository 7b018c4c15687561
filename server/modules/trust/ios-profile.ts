import { createHash, type X509Certificate } from 'node:crypto'

/** The same for the same certificate, so that installing it again replaces it. */
function idOf(certificate: X509Certificate, part: string): string {
  const hex = createHash('sha256').update(part).update(certificate.raw).digest('hex').toUpperCase()
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

/** A configuration profile that brings one authority onto an iPhone or iPad. */
export function iosProfile(certificate: X509Certificate): string {
  const name = /^CN=([\w .-]+)$/m.exec(certificate.subject)?.[1] ?? 'Hearth'
  const lines = certificate.raw.toString('base64').match(/.{1,64}/g) ?? []
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>PayloadContent</key>
  <array>
    <dict>
      <key>PayloadCertificateFileName</key><string>hearth-ca.crt</string>
      <key>PayloadContent</key><data>
${lines.join('\n')}
</data>
      <key>PayloadDisplayName</key><string>${name}</string>
      <key>PayloadIdentifier</key><string>app.hearth.trust.root</string>
      <key>PayloadType</key><string>com.apple.security.root</string>
      <key>PayloadUUID</key><string>${idOf(certificate, 'root')}</string>
      <key>PayloadVersion</key><integer>1</integer>
    </dict>
  </array>
  <key>PayloadDescription</key><string>Lets this device open Hearth at home over a secure connection.</string>
  <key>PayloadDisplayName</key><string>${name}</string>
  <key>PayloadIdentifier</key><string>app.hearth.trust</string>
  <key>PayloadType</key><string>Configuration</string>
  <key>PayloadUUID</key><string>${idOf(certificate, 'profile')}</string>
  <key>PayloadVersion</key><integer>1</integer>
</dict>
</plist>
`
}
