ALTER TABLE `usage` ADD `answer_id` text;--> statement-breakpoint
CREATE INDEX `usage_answer` ON `usage` (`answer_id`);