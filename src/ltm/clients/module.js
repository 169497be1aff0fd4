// Passes the beginnings and ends of sessions to LTM, and what it answers to the model.
// %OWNER%, removed by `ltm uninstall`.
import { spawn } from "node:child_process"
import { homedir } from "node:os"
import { join } from "node:path"

const PATIENCE = 3000
const WORDS = ["%WORDS%"]
const HOOK = join(process.env.LTM_HOME || join(homedir(), ".ltm"), "bin", "ltm-hook")
const told = new Map()

function hook(event, message) {
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
    child.stdin.end(JSON.stringify({ hook_event_name: event, ...message }))
  })
}

async function start(message) {
  const answer = await hook("SessionStart", { ...message, source: "startup" })
  try {
    return JSON.parse(answer).hookSpecificOutput.additionalContext || ""
  } catch {
    return ""
  }
}

// Clients ask at every request, some several times at once.
function memories(session, message) {
  if (!told.has(session)) told.set(session, start(message))
  return told.get(session)
}
