// Starts the pages, which app.tsx lists.

import { render } from "preact";
import "./style/base.css";
import "./style/shell.css";
import "./style/parts.css";
import "./style/pages.css";
import "./style/playground.css";
import "./style/work.css";
import "./style/admin.css";
import "./style/log.css";
import { Dashboard } from "./app.tsx";

const root = document.getElementById("app");
if (root !== null) render(<Dashboard />, root);
