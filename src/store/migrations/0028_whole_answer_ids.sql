DROP INDEX `usage_answer`;--> statement-breakpoint
CREATE INDEX `usage_answer` ON `usage` (`answer_id`) WHERE length("usage"."answer_id") > 20;