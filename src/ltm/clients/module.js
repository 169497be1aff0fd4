// Passes the beginnings and ends of sessions to LTM, and what it answers to the model.
// %OWNER%, removed by `ltm uninstall`.
import { spawn } from "node:child_process"
import { homedir } from "node:os"
import { join } from "node:path"

const PATIENCE = 3000
const WORDS = ["%WORDS%"]
const HOOK = join(process.env.LTM_HOME || join(homedir(), ".ltm"), "bin", "ltm-hook")
const told = new Map()

function hook(event, session, folder, more = {}) {
  return new Promise((done) => {
    let said = ""
    const child = spawn(HOOK, WORDS, { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill(), PATIENCE)
    const end = () => {
      clearTimeout(timer)
      done(said)
    }
    child.stdout.on("data", (data) => (said += data))
    child.on("error", end)
    child.on("close", end)
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ hook_event_name: event, session_id: session, cwd: folder, ...more }))
  })
}

async function start(session, folder) {
  const answer = await hook("SessionStart", session, folder, { source: "startup" })
  try {
    return JSON.parse(answer).hookSpecificOutput.additionalContext || ""
  } catch {
    return ""
  }
}

export const Ltm = async ({ directory }) => ({
  "experimental.chat.system.transform": async (input, output) => {
    const session = input.sessionID
    // Kilo asks for the title in a session that there is not, `title-ses_…`.
    if (!session?.startsWith("ses_")) return
    // It runs at every request, and the title is asked for at the same time as the first answer.
    if (!told.has(session)) told.set(session, start(session, directory))
    const text = await told.get(session)
    if (text) output.system.push(text)
  },
  "experimental.session.compacting": async (input) => {
    await hook("PreCompact", input.sessionID, directory)
  },
  event: async ({ event }) => {
    if (event.type === "session.idle") await hook("Stop", event.properties.sessionID, directory)
  },
})
