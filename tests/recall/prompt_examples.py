"""A project's memories, prompts that one of them helps with, and prompts that none of them does.

The prompts are of two halves: what threshold and words were chosen by, and what they are judged by.
Written by hand in the words people use, typing errors of thought included: a related prompt seldom
has the words of the memory it needs, and an unrelated one often has a word in common.
"""

from __future__ import annotations

MEMORIES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Billing listens on port 8082", "8080 is taken by the proxy on every laptop.", ("billing",)),
    (
        "Retries use exponential backoff with jitter",
        "Three attempts, then the dead letter queue. Decided after the March outage.",
        ("http", "retry"),
    ),
    (
        "Never run migrations from the web container",
        "Two replicas raced and left the schema half applied; use the migrate job.",
        ("migrations", "postgres"),
    ),
    (
        "Staging database is refreshed every Sunday",
        "A job copies production at 03:00 UTC and masks emails.",
        ("staging", "postgres"),
    ),
    (
        "User prefers tabs over spaces in Go files",
        "gofmt decides; do not reformat by hand.",
        ("go",),
    ),
    (
        "Use pnpm, not npm, for the frontend",
        "The lockfile is pnpm-lock.yaml; npm install breaks hoisting.",
        ("pnpm", "frontend"),
    ),
    (
        "The invoice PDF is rendered with WeasyPrint",
        "wkhtmltopdf was dropped because of the font bug with umlauts.",
        ("invoice", "pdf"),
    ),
    (
        "Feature flags live in LaunchDarkly",
        "Flags are evaluated on the server only; the client gets booleans.",
        ("launchdarkly", "flags"),
    ),
    (
        "Session cookies must be SameSite=Lax",
        "Strict broke the single sign-on redirect from Okta.",
        ("cookies", "sso"),
    ),
    (
        "Kafka topic orders.v2 is partitioned by customer",
        "Ordering is guaranteed per customer only.",
        ("kafka", "orders"),
    ),
    (
        "Redis is a cache and may be flushed any time",
        "Nothing durable goes there since the eviction incident.",
        ("redis", "cache"),
    ),
    (
        "Deploy with make ship from the release branch",
        "CI refuses tags that are not on release.",
        ("deploy", "release"),
    ),
    (
        "The scheduler drifts on daylight saving change",
        "All cron expressions are UTC; the UI converts.",
        ("scheduler", "timezone"),
    ),
    (
        "GraphQL resolvers must batch with DataLoader",
        "The N+1 in the orders query cost four seconds.",
        ("graphql",),
    ),
    (
        "Thumbnails are made by the imgproxy sidecar",
        "libvips inside the API leaked memory.",
        ("thumbnails", "images"),
    ),
    (
        "Elasticsearch index is rebuilt behind an alias",
        "Swap products_live after the reindex finished.",
        ("elasticsearch", "search"),
    ),
    (
        "Terraform state is in the S3 bucket acme-tfstate",
        "Locking by DynamoDB; never use local state.",
        ("terraform", "aws"),
    ),
    ("Mobile builds need Xcode 16", "15 fails at linking the Rust library.", ("ios", "xcode")),
    (
        "Webhook signatures are checked with HMAC SHA-256",
        "Stripe sends two signatures while rotating secrets.",
        ("webhooks", "stripe"),
    ),
    (
        "Emails go through Postmark",
        "SES throttled our password resets; templates are in emails/.",
        ("email", "postmark"),
    ),
    (
        "Rate limit is 600 requests a minute per token",
        "429 answers carry Retry-After in seconds.",
        ("ratelimit",),
    ),
    (
        "The CSV export streams in chunks",
        "Loading all rows killed the worker at two gigabytes.",
        ("csv", "export"),
    ),
    (
        "Translations come from Lokalise nightly",
        "Do not edit locales/*.json by hand, they are overwritten.",
        ("i18n", "lokalise"),
    ),
    (
        "Postgres needs the pg_trgm extension",
        "Customer search uses similarity; create it before migrating.",
        ("postgres",),
    ),
    (
        "Prefer composition over inheritance in services",
        "Base classes made the payment adapters unreadable.",
        ("payments", "architecture"),
    ),
    (
        "ECONNRESET from the payment gateway is retried once",
        "They drop idle connections after 30 seconds.",
        ("payments", "ECONNRESET"),
    ),
    (
        "Snapshot tests are written with syrupy",
        "Update with pytest --snapshot-update and review the diff.",
        ("pytest", "snapshots"),
    ),
    (
        "OpenTelemetry traces are sampled at five percent",
        "More was too expensive at Honeycomb.",
        ("tracing",),
    ),
    (
        "Currency amounts are integers in cents",
        "Floats lost a cent in 0.3 percent of refunds.",
        ("money", "refunds"),
    ),
    (
        "src/legacy/tax.py must stay bug-compatible",
        "Auditors compare the numbers of 2019 with it.",
        ("tax", "legacy"),
    ),
)

RELATED: tuple[tuple[str, str], ...] = (
    # -- chosen by
    ("on which port does billing run?", "Billing"),
    ("what did we decide about retries and backoff?", "Retries"),
    ("can I run the migrations inside the web container?", "Never run migrations"),
    ("when is the staging database refreshed?", "Staging"),
    ("install the frontend dependencies with npm", "Use pnpm"),
    ("the umlauts in the invoice pdf look broken", "The invoice PDF"),
    ("add a launchdarkly flag for the new checkout", "Feature flags"),
    ("set the session cookie to SameSite strict", "Session cookies"),
    ("are messages on the kafka orders topic ordered?", "Kafka"),
    ("let's store the carts in redis", "Redis"),
    ("how do I deploy a release?", "Deploy with"),
    ("cron job ran an hour late after the daylight saving change", "The scheduler"),
    ("write a graphql resolver for the order lines", "GraphQL"),
    ("thumbnails are blurry, where are the images resized?", "Thumbnails"),
    ("rebuild the elasticsearch index", "Elasticsearch"),
    ("where does terraform keep its state?", "Terraform"),
    ("the ios build fails at linking, xcode 15", "Mobile builds"),
    ("verify the stripe webhook signature", "Webhook"),
    # -- judged by
    ("password reset emails arrive late, switch to SES?", "Emails"),
    ("what is our rate limit per token?", "Rate limit"),
    ("the csv export of all customers dies", "The CSV export"),
    ("fix the German translations in locales/de.json", "Translations"),
    ("customer search needs similarity, is pg_trgm there?", "Postgres needs"),
    ("make a base class for the payment adapters", "Prefer composition"),
    ("we see ECONNRESET from the payment gateway again", "ECONNRESET"),
    ("update the syrupy snapshots", "Snapshot"),
    ("why do we see so few opentelemetry traces?", "OpenTelemetry"),
    ("should refund amounts be floats or cents?", "Currency"),
    ("clean up src/legacy/tax.py please", "src/legacy/tax.py"),
    ("billing does not answer on port 8080", "Billing"),
    ("the retry of failed http calls hammers the server", "Retries"),
    ("the postgres schema is half applied, migrations raced", "Never run migrations"),
    ("are emails masked in the staging database?", "Staging"),
    ("pnpm-lock.yaml has conflicts", "Use pnpm"),
    ("replace weasyprint for the invoice", "The invoice PDF"),
    ("single sign-on with okta loses the session cookie", "Session cookies"),
    ("can I flush redis in production?", "Redis"),
    ("n+1 queries in the graphql orders resolver", "GraphQL"),
    ("terraform complains about the state lock in dynamodb", "Terraform"),
    ("stripe rotates webhook secrets tomorrow", "Webhook"),
)

UNRELATED: tuple[str, ...] = (
    # -- chosen by
    "yes, go on",
    "thanks, that looks good",
    "run the tests",
    "please commit this with a good message",
    "explain what this function does",
    "rename the variable to something clearer",
    "why is the build red?",
    "add a unit test for the empty case",
    "write a README section about installing",
    "can you refactor this into smaller functions?",
    "sort this list by date and then by name",
    "what does the walrus operator do in Python?",
    "convert this callback to async await",
    "center the dialog vertically",
    "make the sidebar collapsible on small screens",
    "the button in the header has the wrong color",
    "parse the command line flags with argparse",
    "how do I undo the last git commit?",
    "write a regular expression for hex colors",
    "bump the copyright year",
    # -- judged by
    "continue",
    "ok do it",
    "open a pull request with these changes",
    "the linter complains about an unused import",
    "show me the diff before you commit",
    "add type hints to the helper module",
    "draw a sequence diagram of the login",
    "what time zone is Lisbon in?",
    "give me three names for the new service",
    "translate this comment to English",
    "is there a shorter way to write this loop?",
    "the page flickers when I scroll quickly",
    "add a dark mode toggle to the settings screen",
    "write a docstring for every public method",
    "why does mypy think this is Optional?",
    "move the constants into their own file",
    "create a GitHub action that greets new contributors",
    "the font of the headings is too small on mobile",
    "use a heap instead of sorting every time",
    "generate fake users for the demo",
    "I want a progress bar while files are uploaded",
    "validate the phone number field in the signup form",
    "make the tooltip stay open while hovering",
    "split this class, it has two responsibilities",
    "add a keyboard shortcut for closing the panel",
    "which license does this dependency have?",
    "print the table with aligned columns",
    "please summarize the changes of this week",
    "profile the start of the program and tell me what is slow",
    "the date picker shows weeks starting on Sunday",
    "write an essay about the history of the printing press, in about five hundred words, with an"
    " opening that catches the reader and a closing that looks ahead, and mention Gutenberg, the"
    " reformation, newspapers, paperbacks and what came after them on screens and phones",
    "here is the log of my shell: cd app; ls; cat notes.txt; echo hello; vim notes.txt; exit. Tell"
    " me which of these commands changed something on the disk and which only looked at it, and"
    " make a table with two columns out of it that I can paste into a ticket",
)
