// What the API and the pages of projects share. Times are ISO 8601; money is in US dollars; null means none.

/** What a member may do. */
export type ProjectRoleName = "owner" | "manager" | "member";

/** A project of the account. */
export interface ProjectRow {
  readonly id: string;
  readonly name: string;
  /** The reader's own. */
  readonly role: ProjectRoleName;
  readonly budget: number | null;
  /** Such as `30d`. */
  readonly budget_period: string | null;
  readonly spent: number;
  readonly resets_at: string | null;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly parallel: number | null;
  readonly models: readonly string[] | null;
  readonly members: number;
  readonly keys: number;
  readonly created_at: string;
}

/** A member of a project. */
export interface MemberRow {
  readonly email: string;
  readonly username: string;
  readonly role: ProjectRoleName;
  readonly provider: string | null;
  readonly created_at: string;
}

/** A key of a project, without its secret. */
export interface ProjectKeyRow {
  readonly id: string;
  readonly name: string;
  /** Its first and last characters. */
  readonly key: string;
  /** Whose it is. */
  readonly username: string;
  /** It is the reader's own. */
  readonly own: boolean;
  /** Of its budget if it has one, otherwise in all. */
  readonly spent: number;
  readonly last_used_at: string | null;
  readonly created_at: string;
}

/** The requests and the cost of one day. */
export interface ProjectDay {
  /** Such as `2030-12-31`. */
  readonly day: string;
  readonly requests: number;
  readonly cost: number;
}

/** A project with all that its page shows. */
export interface ProjectDetails {
  readonly project: ProjectRow;
  readonly members: readonly MemberRow[];
  readonly keys: readonly ProjectKeyRow[];
  /** The last 30 days, the oldest first. */
  readonly days: readonly ProjectDay[];
}
