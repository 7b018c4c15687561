/** Words of the chat. */
export const chatMessages = {}
