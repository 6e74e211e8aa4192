// The schema of the job store, as steps from one version to the next. A step that has been released is never changed.

/** Step i leads from version i to version i + 1. */
export const migrations: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    request_id TEXT NOT NULL,
    idempotency_key TEXT,
    request_hash TEXT NOT NULL,
    request TEXT NOT NULL,
    outputs TEXT NOT NULL,
    plan TEXT,
    shape TEXT,
    status TEXT NOT NULL CHECK (status IN ('queued', 'in_progress', 'completed', 'failed', 'cancelled')),
    priority INTEGER NOT NULL,
    transient INTEGER NOT NULL,
    created_at REAL NOT NULL,
    queued_at REAL NOT NULL,
    started_at REAL,
    completed_at REAL,
    deadline_at REAL,
    lifetime REAL,
    expires_at REAL,
    waited REAL NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    crashes TEXT NOT NULL DEFAULT '[]',
    progress TEXT,
    timings TEXT,
    error TEXT,
    result TEXT,
    epoch INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    lease_until REAL,
    CHECK ((status = 'in_progress') = (lease_until IS NOT NULL)),
    CHECK ((status IN ('completed', 'failed', 'cancelled')) = (completed_at IS NOT NULL)),
    CHECK ((status = 'failed') = (error IS NOT NULL))
  ) STRICT;
  CREATE UNIQUE INDEX jobs_by_key ON jobs (owner, idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX jobs_by_status ON jobs (status, completed_at);
  -- All that the order of the queue needs, so that it never reads the long rows themselves.
  CREATE INDEX jobs_waiting ON jobs (priority, owner, seq, attempts, shape, id) WHERE status = 'queued';
  CREATE INDEX jobs_running ON jobs (owner) WHERE status = 'in_progress';
  CREATE INDEX jobs_by_owner ON jobs (owner, kind, seq);
  CREATE INDEX jobs_by_expiry ON jobs (expires_at) WHERE expires_at IS NOT NULL;
  CREATE INDEX jobs_by_deadline ON jobs (deadline_at) WHERE deadline_at IS NOT NULL;

  CREATE TABLE artifacts (
    id TEXT PRIMARY KEY,
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    variant TEXT NOT NULL,
    position INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    file TEXT NOT NULL UNIQUE,
    created_at REAL NOT NULL,
    UNIQUE (job_id, variant, position)
  ) STRICT;

  CREATE TABLE uploads (
    sha256 TEXT PRIMARY KEY,
    media_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    file TEXT NOT NULL UNIQUE,
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL
  ) STRICT;

  CREATE TABLE inputs (
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    role TEXT NOT NULL,
    sha256 TEXT NOT NULL
  ) STRICT;
  CREATE INDEX inputs_by_job ON inputs (job_id);
  CREATE INDEX inputs_by_hash ON inputs (sha256);

  CREATE TABLE owners (owner TEXT PRIMARY KEY, served INTEGER NOT NULL) STRICT;
  CREATE TABLE timelines (shape TEXT PRIMARY KEY, timeline TEXT NOT NULL, updated_at REAL NOT NULL) STRICT;
  `,
  // What lists show and search without reading plans: the task, the prompt's words in lower case, the settled numbers.
  `
  ALTER TABLE jobs ADD COLUMN task TEXT;
  ALTER TABLE jobs ADD COLUMN words TEXT NOT NULL DEFAULT '';
  ALTER TABLE jobs ADD COLUMN summary TEXT;
  UPDATE jobs SET
    words = lower(substr(coalesce(json_extract(request, '$.extra.prompt'), json_extract(request, '$.fields.prompt'), ''), 1, 2000)),
    task = json_extract(plan, '$.task'),
    summary = CASE WHEN plan IS NULL THEN NULL ELSE json_object(
      'task', json_extract(plan, '$.task'),
      'width', json_extract(plan, '$.content.width'),
      'height', json_extract(plan, '$.content.height'),
      'frames', json_extract(plan, '$.frames'),
      'fps', json_extract(plan, '$.fps'),
      'steps', json_extract(plan, '$.steps'),
      'guidance', json_extract(plan, '$.guidance.scale'),
      'flowShift', json_extract(plan, '$.schedule.flowShift'),
      'seed', json_extract(plan, '$.seed'),
      'hasSound', json(CASE WHEN json_type(plan, '$.sound') = 'object' THEN 'true' ELSE 'false' END),
      'hasAction', json(CASE WHEN json_type(plan, '$.action') = 'object' THEN 'true' ELSE 'false' END)) END;
  -- All that a list's conditions need: a search reads this alone, and the long rows of one page.
  CREATE INDEX jobs_listed ON jobs (owner, seq, status, task, kind, created_at, words) WHERE transient = 0;
  `,
];
