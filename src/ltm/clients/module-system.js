
export const Ltm = async ({ directory }) => {
  const about = (session) => ({ session_id: session, cwd: directory })
  return {
    "experimental.chat.system.transform": async (input, output) => {
      const session = input.sessionID
      // Kilo asks for the title in a session that there is not, `title-ses_…`.
      if (!session?.startsWith("ses_")) return
      const text = await memories(session, about(session))
      if (text) output.system.push(text)
    },
    "experimental.session.compacting": async (input) => {
      await hook("PreCompact", about(input.sessionID))
    },
    event: async ({ event }) => {
      if (event.type === "session.idle") await hook("Stop", about(event.properties.sessionID))
    },
  }
}
