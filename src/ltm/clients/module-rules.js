
export default {
  name: "ltm",
  manifest: { capabilities: ["rules"] },
  setup(client, { session, workspaceInfo }) {
    const id = session?.sessionId
    // As the client's own hooks say it.
    const message = { sessionContext: { rootSessionId: id }, workspaceRoots: [workspaceInfo?.rootPath] }
    client.registerRule({ id: "ltm", source: "ltm", content: () => memories(id, message) })
  },
}
