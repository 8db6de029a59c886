import { mkdirSync } from "node:fs";
import { jobStore } from "../../src/store/work/jobs.ts";
import { threadStore } from "../../src/store/threads/threads.ts";
import { freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { startBrowser } from "../support/browser.ts";
import { DECISION_CONFIG, seedVersions } from "./decision-versions.ts";
import { addresses, arrivals, GUEST } from "./page-walk.ts";
import { spend } from "./spent.ts";
import { dashboardClient } from "./support.ts";
